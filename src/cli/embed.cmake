# cmake -DOUTPUT=FILE.c -DFOLDER=docs/diagnostics -P embed.cmake
# Writes the array of pages.h. Bytes in hexadecimal: string literals of this length are not portable C.
file(GLOB files ${FOLDER}/KN????.md)
list(SORT files)
set(arrays "")
set(rows "")
set(count 0)
foreach(file ${files})
  get_filename_component(name ${file} NAME_WE)
  string(SUBSTRING ${name} 2 4 code)
  file(READ ${file} bytes HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  string(APPEND arrays "static const unsigned char page_${code}[] = {${bytes}0};\n")
  string(APPEND rows "    { ${code}, (const char *)page_${code} },\n")
  math(EXPR count "${count} + 1")
endforeach()
file(WRITE ${OUTPUT}.new
  "/* Written by src/cli/embed.cmake from docs/diagnostics. */\n#include \"cli/pages.h\"\n${arrays}\n"
  "const Page pages[] = {\n${rows}    { 0, 0 },\n};\nconst uint32_t n_pages = ${count};\n")
file(RENAME ${OUTPUT}.new ${OUTPUT})
