# Makes a C source of page.html with page.css and page.js in it, cut where the report goes.
file(READ ${FOLDER}/page.html html)
foreach(part css js)
  file(READ ${FOLDER}/page.${part} text)
  string(REPLACE "@${part}@" "${text}" html "${html}")
endforeach()

string(CONCAT source "/* Made from driver/run/page. */\n#include <stddef.h>\n\nextern const unsigned char qfi_page_head[], qfi_page_tail[];\n"
           "extern const size_t qfi_page_head_size, qfi_page_tail_size;\n")
string(FIND "${html}" "@report@" at)
string(SUBSTRING "${html}" 0 ${at} head)
math(EXPR at "${at} + 8")
string(SUBSTRING "${html}" ${at} -1 tail)
foreach(part head tail)
  file(WRITE ${OUT}.${part} "${${part}}")
  file(READ ${OUT}.${part} bytes HEX)
  file(REMOVE ${OUT}.${part})
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes "${bytes}")
  string(APPEND source "const unsigned char qfi_page_${part}[] = {\n${bytes}\n};\n"
                     "const size_t qfi_page_${part}_size = sizeof qfi_page_${part};\n")
endforeach()
file(WRITE ${OUT} "${source}")
