/* Everything: kernels, evaluation, graphs, folding. */
#ifndef QFOLD_H
#define QFOLD_H

#include <qfold/eval.h>
#include <qfold/fold.h>
#include <qfold/graph.h>
#include <qfold/io.h>
#include <qfold/kernels.h>
#include <qfold/ops.h>
#include <qfold/status.h>
#include <qfold/tensor.h>
#include <qfold/types.h>
#include <qfold/version.h>

#endif
