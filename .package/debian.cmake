# What Debian expects of a package beside what is installed everywhere: a changelog, compressed manual pages, and
# completions for zsh in the folder for packages. cpack runs this when everything is installed in its folder.
set(root ${CPACK_TEMPORARY_DIRECTORY}/usr)
set(doc ${root}/share/doc/${CPACK_PACKAGE_NAME})

execute_process(COMMAND date -u -R -d ${CPACK_ATTN_DATE} OUTPUT_VARIABLE date OUTPUT_STRIP_TRAILING_WHITESPACE
                COMMAND_ERROR_IS_FATAL ANY)
file(WRITE ${doc}/changelog.Debian "${CPACK_PACKAGE_NAME} (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium

  * Version ${CPACK_PACKAGE_VERSION}; docs/changes.md says what changed.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
file(WRITE ${root}/share/lintian/overrides/${CPACK_PACKAGE_NAME}
     "# Linked as an archive, because every start would load the shared library.\n"
     "${CPACK_PACKAGE_NAME}: embedded-library *ncurses*\n")
file(GLOB pages ${root}/share/man/man1/*.1)
execute_process(COMMAND gzip -9nf ${doc}/changelog.Debian ${pages} COMMAND_ERROR_IS_FATAL ANY)
file(RENAME ${root}/share/zsh/site-functions ${root}/share/zsh/vendor-completions)
