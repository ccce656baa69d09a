# The page of `koine view`: web/ is built with npm and put into the program as bytes. Without npm, or when its packages
# cannot be had, the build says so and puts in a page that says so.
file(GLOB page_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/web/src/*.ts ${CMAKE_SOURCE_DIR}/web/src/*.css
     ${CMAKE_SOURCE_DIR}/web/src/*.html)
set(page_folder ${CMAKE_BINARY_DIR}/page)
set(page_c ${CMAKE_BINARY_DIR}/page.c)
find_program(NPM npm)
if(NOT NPM AND NOT EXISTS ${CMAKE_SOURCE_DIR}/web/page/page.js) # a release has the page as it was built
  message(WARNING "npm is missing: `koine view` and `koine report` will have no page. Install nodejs and npm, then "
                  "configure again. Everything else works.")
endif()
add_custom_command(
  OUTPUT ${page_c}
  COMMAND ${CMAKE_COMMAND} -E env NPM=${NPM} ${CMAKE_SOURCE_DIR}/web/build ${page_folder} # npm found later: built again
  COMMAND ${CMAKE_COMMAND} -DOUTPUT=${page_c} -DFOLDER=${page_folder} -P ${CMAKE_SOURCE_DIR}/src/web/embed.cmake
  DEPENDS ${page_sources} web/package.json web/package-lock.json web/build web/bundle.mjs src/web/embed.cmake
  VERBATIM)
target_sources(koine_web PRIVATE ${page_c})
