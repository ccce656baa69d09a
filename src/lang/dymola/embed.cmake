# cmake -DOUTPUT=FILE.c -DFOLDER=library/dymola -P embed.cmake
# Writes the array of library.h. Bytes in hexadecimal: string literals of this length are not portable C.
file(GLOB files ${FOLDER}/*.lib)
list(SORT files)
set(arrays "")
set(rows "")
foreach(file ${files})
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} bytes HEX)
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  string(APPEND arrays "static const unsigned char library_${name}[] = {${bytes}0};\n")
  string(APPEND rows "    { \"${name}.lib\", (const char *)library_${name} },\n")
endforeach()
file(WRITE ${OUTPUT}.new
  "/* Written by src/lang/dymola/embed.cmake from library/dymola. */\n#include \"lang/dymola/library.h\"\n${arrays}\n"
  "const LibraryFile dym_library[] = {\n${rows}    { 0, 0 },\n};\n")
file(RENAME ${OUTPUT}.new ${OUTPUT})
