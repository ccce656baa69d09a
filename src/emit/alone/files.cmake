# The files that every model standing alone comes with, as paths below the source tree: alone_sources. Sources of libraries
# that are not there on its machine are compiled to what says so.
if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(alone_depends CONFIGURE_DEPENDS)
endif()
file(GLOB_RECURSE alone_sources ${alone_depends} RELATIVE ${alone_root}
     ${alone_root}/src/alone/*.[ch] ${alone_root}/src/alone/CMakeLists.txt ${alone_root}/src/alone/README.md
     ${alone_root}/src/runtime/*.[ch])
foreach(name model.h support.h modes.h texts.h objects.h text_format.h simulate.h linearize.h control.h api.h ops.h statistics.def koine_external.h)
  list(APPEND alone_sources include/koine/${name})
endforeach()
# What main.c needs for texts and numbers.
foreach(name arena bug map names number_powers number_print number_read text utf8 vec)
  list(APPEND alone_sources src/base/${name}.c)
endforeach()
foreach(name arena ascii bug map names number text utf8 vec)
  list(APPEND alone_sources src/base/${name}.h)
endforeach()
list(APPEND alone_sources src/formats/csv_text.c src/formats/csv_text.h src/formats/select.c src/formats/select.h)
list(SORT alone_sources)
