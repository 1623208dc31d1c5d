# `cpack -G DEB` in a build makes three packages: libqfold0 (shared libraries), libqfold-dev (headers, archives, CMake package, .pc
# files) and qfold (the program, which needs no library of the others, its manual page, completions of shells).
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME qfold)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "qfold authors <qfold@qfold.invalid>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL library development program)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libqfold${QFOLD_SOVERSION})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "Shared libraries: libqfold_kernels holds tensor kernels behind a dispatch
table, libqfold folds model files with them.")
# libqfold needs libqfold_kernels, of the same package.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS $<TARGET_FILE_DIR:qfold_kernels>)

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libqfold-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
    "libqfold${QFOLD_SOVERSION} (= ${PROJECT_VERSION}), libdeflate-dev, libpthreadpool-dev, libc6-dev")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "Headers, archives, the CMake package and the files for pkg-config.")

set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME qfold)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION utils)
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION "qfold reads a program that torch.export.save wrote, computes what never
changes once and ahead of time, and writes a file that computes the same.")

# What every package has to bring of its licence.
foreach(part library development program)
  string(TOUPPER ${part} upper)
  install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${CPACK_DEBIAN_${upper}_PACKAGE_NAME}
          RENAME copyright COMPONENT ${part} EXCLUDE_FROM_ALL)
endforeach()
include(CPack)
