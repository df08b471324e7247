# SPDX-License-Identifier: Apache-2.0
# SQLite, libyaml and the CUDA toolkit: found, checked for their minimum versions, never downloaded.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)

# rtune_find(NAME pkg-config-module minimum static-library): the interface target rtune_NAME.
function(rtune_find name module minimum archive)
  pkg_check_modules(${name} REQUIRED ${module}>=${minimum})
  add_library(rtune_${name} INTERFACE)
  target_include_directories(rtune_${name} SYSTEM INTERFACE ${${name}_INCLUDE_DIRS})
  if(RTUNE_STATIC_DEPS)
    find_library(RTUNE_${name}_ARCHIVE ${archive} HINTS ${${name}_LIBRARY_DIRS} REQUIRED)
    target_link_libraries(rtune_${name} INTERFACE "${RTUNE_${name}_ARCHIVE}" m ${CMAKE_DL_LIBS}
                          Threads::Threads)
  else()
    target_link_libraries(rtune_${name} INTERFACE ${${name}_LINK_LIBRARIES})
  endif()
endfunction()
rtune_find(sqlite sqlite3 3.34 libsqlite3.a)
rtune_find(yaml yaml-0.1 0.2.2 libyaml.a)

# The toolkit is used for nvcc and cuda.h alone: the driver, NVRTC and NVML are opened at run time.
set(RTUNE_HAVE_CUDA OFF)
if(NOT RTUNE_CUDA STREQUAL "OFF")
  find_program(RTUNE_NVCC nvcc HINTS "${CUDAToolkit_ROOT}/bin" "$ENV{CUDA_HOME}/bin"
               "$ENV{CUDA_PATH}/bin" /usr/local/cuda/bin)
  if(RTUNE_NVCC)
    execute_process(COMMAND "${RTUNE_NVCC}" --version OUTPUT_VARIABLE nvcc_text ERROR_QUIET)
    if(nvcc_text MATCHES "release ([0-9]+\\.[0-9]+)")
      set(RTUNE_NVCC_VERSION "${CMAKE_MATCH_1}")
      if(RTUNE_NVCC_VERSION VERSION_LESS 12.4)
        message(WARNING "nvcc ${RTUNE_NVCC_VERSION} is older than 12.4 and is not used")
      else()
        set(RTUNE_HAVE_CUDA ON)
      endif()
    endif()
  endif()
  # cuda.h, for the driver's types: in the toolkit's own include folder, next to nvcc.
  if(RTUNE_HAVE_CUDA)
    file(REAL_PATH "${RTUNE_NVCC}" nvcc_path)
    cmake_path(GET nvcc_path PARENT_PATH nvcc_folder)
    cmake_path(GET RTUNE_NVCC PARENT_PATH nvcc_link_folder)
    find_path(RTUNE_CUDA_INCLUDE cuda.h NO_DEFAULT_PATH HINTS
              "${nvcc_folder}/../include" "${nvcc_link_folder}/../include"
              "${nvcc_folder}/../targets/${CMAKE_SYSTEM_PROCESSOR}-linux/include"
              "${nvcc_folder}/../targets/sbsa-linux/include" /usr/include)
    if(NOT RTUNE_CUDA_INCLUDE)
      message(WARNING "${RTUNE_NVCC} has no cuda.h beside it and is not used")
      set(RTUNE_HAVE_CUDA OFF)
    endif()
  endif()
  if(NOT RTUNE_HAVE_CUDA AND RTUNE_CUDA STREQUAL "ON")
    message(FATAL_ERROR "RTUNE_CUDA=ON, but no nvcc >= 12.4 with cuda.h was found; set "
                        "CUDAToolkit_ROOT")
  endif()
endif()
if(RTUNE_HAVE_CUDA)
  execute_process(COMMAND "${RTUNE_NVCC}" --list-gpu-arch OUTPUT_VARIABLE nvcc_archs ERROR_QUIET)
  string(REGEX MATCHALL "[0-9]+" nvcc_archs "${nvcc_archs}")
  if(RTUNE_CUDA_ARCHS STREQUAL "") # as many of the default as this nvcc knows
    set(RTUNE_CUDA_ARCHS 75 80 86 89 90 100 120)
    set(dropped ${RTUNE_CUDA_ARCHS})
    list(REMOVE_ITEM dropped ${nvcc_archs})
    if(dropped)
      list(REMOVE_ITEM RTUNE_CUDA_ARCHS ${dropped})
      message(STATUS "CUDA ${RTUNE_NVCC_VERSION} does not know ${dropped}: no kernels for them")
    endif()
    if(NOT RTUNE_CUDA_ARCHS)
      message(FATAL_ERROR "${RTUNE_NVCC} knows none of the default architectures; set "
                          "RTUNE_CUDA_ARCHS")
    endif()
  endif()
  foreach(arch IN LISTS RTUNE_CUDA_ARCHS)
    string(REGEX REPLACE "[af]$" "" number "${arch}")
    if(NOT arch MATCHES "^[0-9]+[af]?$" OR NOT number IN_LIST nvcc_archs)
      string(REPLACE ";" " " known "${nvcc_archs}")
      message(FATAL_ERROR "RTUNE_CUDA_ARCHS: \"${arch}\" is not an architecture that nvcc "
                          "${RTUNE_NVCC_VERSION} knows (${known}); \"native\" and \"all\" are not "
                          "supported, since the kernels are built without a GPU")
    endif()
  endforeach()
  message(STATUS "CUDA ${RTUNE_NVCC_VERSION}: built-in kernels for ${RTUNE_CUDA_ARCHS}")
elseif(RTUNE_CUDA STREQUAL "OFF")
  message(STATUS "CUDA: switched off (RTUNE_CUDA=OFF); the cpu device alone is built")
else()
  message(STATUS "CUDA: no nvcc >= 12.4; the cpu device alone is built")
endif()
