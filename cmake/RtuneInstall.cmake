# SPDX-License-Identifier: Apache-2.0
# What is installed: the shared and the static library, the public headers, the CMake package and
# rtune.pc, all as component "rtune". The program installs itself in tools/.
include(CMakePackageConfigHelpers)
set(package "${CMAKE_INSTALL_LIBDIR}/cmake/rtune")

install(TARGETS rtune rtune_static EXPORT rtune-targets
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT rtune
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT rtune)
install(FILES "${PROJECT_SOURCE_DIR}/include/rtune/rtune.h"
  "${PROJECT_BINARY_DIR}/include/rtune/version.h"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/rtune" COMPONENT rtune)

install(EXPORT rtune-targets NAMESPACE rtune:: DESTINATION "${package}"
  COMPONENT rtune)
configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/rtune-config.cmake.in"
  "${PROJECT_BINARY_DIR}/rtune-config.cmake" INSTALL_DESTINATION "${package}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/rtune-config-version.cmake"
  COMPATIBILITY SameMinorVersion) # before 1.0 a minor version may change the interface
install(FILES "${PROJECT_BINARY_DIR}/rtune-config.cmake"
  "${PROJECT_BINARY_DIR}/rtune-config-version.cmake" DESTINATION "${package}" COMPONENT rtune)

# rtune.pc finds its prefix from where it lies, so that the installed tree can be moved.
file(RELATIVE_PATH RTUNE_PC_PREFIX "/x/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/x")
configure_file("${CMAKE_CURRENT_LIST_DIR}/rtune.pc.in" "${PROJECT_BINARY_DIR}/rtune.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/rtune.pc"
  DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT rtune)
