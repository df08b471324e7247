# SPDX-License-Identifier: Apache-2.0
# Compile flags as one interface target. Everything in the tree links it; nothing sets globals.
add_library(rtune_flags INTERFACE)
target_include_directories(rtune_flags INTERFACE
  "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/include" "${PROJECT_BINARY_DIR}/include")
target_compile_features(rtune_flags INTERFACE c_std_17 cxx_std_17)
target_compile_definitions(rtune_flags INTERFACE _GNU_SOURCE)
target_compile_options(rtune_flags INTERFACE
  -fPIC -fvisibility=hidden
  $<$<COMPILE_LANGUAGE:C,CXX>:-Wall -Wextra -Wshadow -Wcast-qual -Wformat=2 -Wundef -Wvla>
  $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith>)
if(RTUNE_WERROR)
  target_compile_options(rtune_flags INTERFACE $<$<COMPILE_LANGUAGE:C,CXX>:-Werror>)
endif()
if(RTUNE_SANITIZE)
  target_compile_options(rtune_flags INTERFACE -fsanitize=${RTUNE_SANITIZE} -fno-omit-frame-pointer
                         -fno-sanitize-recover=undefined)
  target_link_options(rtune_flags INTERFACE -fsanitize=${RTUNE_SANITIZE})
endif()
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_CXX_EXTENSIONS OFF)
