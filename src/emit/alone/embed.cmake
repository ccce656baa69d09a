# cmake -DOUTPUT=FILE.c -Dalone_root=FOLDER -P embed.cmake
# Writes the array of files.h. Bytes in hexadecimal: string literals of this length are not portable C.
include(${CMAKE_CURRENT_LIST_DIR}/files.cmake)
set(arrays "")
set(rows "")
set(count 0)
foreach(source ${alone_sources})
  file(READ ${alone_root}/${source} bytes HEX)
  string(LENGTH "${bytes}" size)
  math(EXPR size "${size} / 2")
  string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
  # What is for the reader stands at the top.
  string(REGEX REPLACE "^src/alone/(main.c|component.c|CMakeLists.txt|README.md)$" "\\1" path ${source})
  if(path STREQUAL source)
    set(path runtime/${source})
  endif()
  string(APPEND arrays "static const unsigned char file_${count}[] = {${bytes}0};\n")
  string(APPEND rows "    { \"${path}\", (const char *)file_${count}, ${size} },\n")
  math(EXPR count "${count} + 1")
endforeach()
file(WRITE ${OUTPUT}.new
  "/* Written by src/emit/alone/embed.cmake. */\n#include \"emit/alone/files.h\"\n${arrays}\n"
  "const AloneFile alone_files[] = {\n${rows}    { 0, 0, 0 },\n};\n")
file(RENAME ${OUTPUT}.new ${OUTPUT})
