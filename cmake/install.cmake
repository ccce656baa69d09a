# cmake --install: the program, the library for other programs (koine/koine.h) shared and static, headers, the Python module,
# manual page, completion, documentation and examples. The program needs none of the source tree: its pages are inside it.
set(parts base foreign trust graph ir simplex dymola passes runtime formats emit experiment languages bank explain outside driver study api)
# Debian's libtcc cannot become part of a shared library (it is not position-independent): there the table of tiers has no row
# for it, and `auto` climbs to the C compiler at once.
add_library(koine_library SHARED ${CMAKE_SOURCE_DIR}/src/emit/tiers.c)
target_compile_definitions(koine_library PRIVATE KOINE_WITHOUT_TCC)
target_include_directories(koine_library PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
add_library(koine_archive STATIC)
foreach(part ${parts})
  target_sources(koine_library PRIVATE $<TARGET_OBJECTS:koine_${part}>)
  target_sources(koine_archive PRIVATE $<TARGET_OBJECTS:koine_${part}>)
  target_link_libraries(koine_library PRIVATE "$<FILTER:$<TARGET_PROPERTY:koine_${part},LINK_LIBRARIES>,EXCLUDE,(^koine_|libtcc)>")
endforeach()
target_sources(koine_archive PRIVATE $<TARGET_OBJECTS:koine_tiers>)
# Static HDF5 and SQLite are not position-independent either.
target_link_libraries(koine_library PRIVATE ${HDF5_LINK_LIBRARIES} ${LZ4_LINK_LIBRARIES} ${SQLITE_LINK_LIBRARIES} Threads::Threads m
                      ${CMAKE_DL_LIBS})
target_link_options(koine_library PRIVATE -Wl,--version-script=${CMAKE_SOURCE_DIR}/cmake/koine.map -Wl,--no-undefined)
set_target_properties(koine_library PROPERTIES OUTPUT_NAME koine LINKER_LANGUAGE C LINK_DEPENDS ${CMAKE_SOURCE_DIR}/cmake/koine.map
                      VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
set_target_properties(koine_archive PROPERTIES OUTPUT_NAME koine LINKER_LANGUAGE C)

file(RELATIVE_PATH up_to_prefix /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" up_to_prefix "${up_to_prefix}")
configure_file(cmake/koine.pc.in koine.pc @ONLY)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/koine)
file(RELATIVE_PATH up_to_prefix_from_package /prefix/${package_folder} /prefix)
configure_file(cmake/koine-config.cmake.in koine-config.cmake @ONLY)
include(CMakePackageConfigHelpers)
write_basic_package_version_file(koine-config-version.cmake COMPATIBILITY SameMinorVersion)

install(TARGETS koine_library LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS koine_archive ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES ${CMAKE_BINARY_DIR}/koine-config.cmake ${CMAKE_BINARY_DIR}/koine-config-version.cmake DESTINATION ${package_folder})
install(DIRECTORY include/koine DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.h PATTERN *.def)
install(FILES ${CMAKE_BINARY_DIR}/koine.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
# Where Debian's Python looks below /usr; elsewhere PYTHONPATH names the folder.
install(DIRECTORY python/koine DESTINATION lib/python3/dist-packages FILES_MATCHING PATTERN *.py PATTERN __pycache__ EXCLUDE)
# Documents lie as they do in the source tree, so that their links lead somewhere (tests/cli/test-install).
install(FILES README.md CHANGELOG.md ARCHITECTURE.md CONTRIBUTING.md LICENSE NOTICE
        DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN *.md PATTERN *.png PATTERN *.svg)
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(TARGETS koine-component RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(TARGET koine)
  install(TARGETS koine RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(FILES ${CMAKE_BINARY_DIR}/src/cli/koine.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${CMAKE_BINARY_DIR}/src/cli/koine.bash RENAME koine
          DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
endif()
