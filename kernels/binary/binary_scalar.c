/* Scalar rows of the binary family. */
#include "kernels/common/element.h"

QFK_MAP2(qfk_add_f32_scalar, f32, f32, a + b)
