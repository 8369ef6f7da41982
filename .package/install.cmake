# What is installed: the program, what it tells of itself (manual pages and completions), and the documents.
include(GNUInstallDirs)

set(about ${CMAKE_CURRENT_BINARY_DIR}/about)
list(JOIN ATTN_PACKAGES " " packages)
add_custom_command(
  OUTPUT ${about}/attn.1
  COMMAND ${CMAKE_COMMAND} -DATTN=$<TARGET_FILE:attn> -DABOUT=${about} "-DPACKAGES=${packages}"
          -P ${CMAKE_CURRENT_LIST_DIR}/about.cmake
  DEPENDS attn ${CMAKE_CURRENT_LIST_DIR}/about.cmake ${CMAKE_CURRENT_LIST_DIR}/copyright.txt VERBATIM)
add_custom_target(attn_about ALL DEPENDS ${about}/attn.1)

install(TARGETS attn RUNTIME)
install(DIRECTORY ${about}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 FILES_MATCHING PATTERN "*.1")
install(FILES ${about}/attn.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME attn)
install(FILES ${about}/attn.zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions RENAME _attn)
install(FILES ${about}/attn.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(FILES README.md ${about}/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs FILES_MATCHING PATTERN "*.md" PATTERN "*.svg")

# --- cpack -G DEB -------------------------------------------------------------------------------------------------

# Who makes a package: as for Debian's own tools the variables DEBFULLNAME and DEBEMAIL say it, or else the author of
# the last change.
set(maintainer "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
if(NOT DEFINED ENV{DEBFULLNAME} OR NOT DEFINED ENV{DEBEMAIL})
  execute_process(COMMAND git -C ${CMAKE_CURRENT_SOURCE_DIR} log -1 "--format=%an <%ae>"
                  OUTPUT_VARIABLE maintainer OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "${maintainer}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION education)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "bash-completion, man-db")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
string(TOLOWER "${PROJECT_DESCRIPTION}" CPACK_PACKAGE_DESCRIPTION_SUMMARY)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"attn teaches attention in a terminal: queries, keys and values, scores,
scaling, masks, softmax, the weighted sum, multi-head attention, positional
encoding, recurrent encoder-decoders and the whole Transformer.

It shows every intermediate matrix, and explains how each number was
computed. It works on built-in examples, on a sentence, on matrices in files
and on the parameters of PyTorch's attention modules. Its lessons run in the
terminal.")
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/debian.cmake)
# For debian.cmake: what cpack knows begins with CPACK_.
set(CPACK_ATTN_DATE ${ATTN_DATE})
include(CPack)
