/* The text of a report in JSON, for those who write it. */
#ifndef QFI_REPORT_TEXT_H
#define QFI_REPORT_TEXT_H

#include <qfold/fold.h>

#include "../io/json.h"

/* Appends the report ("qfold.report.v1"); t->failed when memory runs out. */
void qfi_report_text(const qf_report *report, qfi_text *t);

/* The page around it, made from page/ while building: what stands before and behind the JSON. */
extern const unsigned char qfi_page_head[], qfi_page_tail[];
extern const size_t qfi_page_head_size, qfi_page_tail_size;

#endif
