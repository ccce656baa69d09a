# cmake --install: the program, the runtime as a shared library for other programs, headers, manual page, completion,
# documentation and examples. The program needs none of the source tree: its pages are inside it.
add_library(koine_library SHARED $<TARGET_OBJECTS:koine_runtime>)
target_link_libraries(koine_library PRIVATE $<TARGET_PROPERTY:koine_runtime,INTERFACE_LINK_LIBRARIES>)
set_target_properties(koine_library PROPERTIES OUTPUT_NAME koine LINKER_LANGUAGE C
                      VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})

file(RELATIVE_PATH up_to_prefix /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" up_to_prefix "${up_to_prefix}")
configure_file(cmake/koine.pc.in koine.pc @ONLY)

install(TARGETS koine_library LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/koine DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.h PATTERN *.def)
install(FILES ${CMAKE_BINARY_DIR}/koine.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
# Documents lie as they do in the source tree, so that their links lead somewhere (tests/cli/test-install).
install(FILES README.md CHANGELOG.md ARCHITECTURE.md CONTRIBUTING.md LICENSE NOTICE
        DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN *.md PATTERN *.png PATTERN *.svg)
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(TARGET koine)
  install(TARGETS koine RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(FILES ${CMAKE_BINARY_DIR}/src/cli/koine.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${CMAKE_BINARY_DIR}/src/cli/koine.bash RENAME koine
          DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
endif()
