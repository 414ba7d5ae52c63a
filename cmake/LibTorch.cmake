# LibTorch, for the rank program alone: the distribution's package (libtorch-dev and libgloo-dev), or the one inside a
# pip-installed torch: -DFSDPCKPT_TORCH=<site-packages>/torch. FSDPCKPT_RANKS: AUTO builds the rank program where one
# is found, ON insists, OFF does not look.
set(FSDPCKPT_RANKS AUTO CACHE STRING "Build fsdpckpt-rank, which links LibTorch: AUTO, ON or OFF")
set(FSDPCKPT_TORCH "" CACHE PATH "Folder of a pip-installed torch whose LibTorch is to be used")

function(fsdpckpt_find_libtorch)
  set(required QUIET)
  if(FSDPCKPT_RANKS STREQUAL "ON")
    set(required REQUIRED)
  endif()
  if(FSDPCKPT_TORCH)
    # Without the second line the wheel's configuration finds the system's libtorch.so first, and the program aborts at
    # its start: two versions in one process.
    list(PREPEND CMAKE_PREFIX_PATH ${FSDPCKPT_TORCH}/share/cmake)
    list(PREPEND CMAKE_LIBRARY_PATH ${FSDPCKPT_TORCH}/lib)
  endif()
  set(CMAKE_MESSAGE_LOG_LEVEL ERROR)
  find_package(Torch ${required})
  set(CMAKE_MESSAGE_LOG_LEVEL STATUS)
  find_path(GLOO_INCLUDE gloo/transport/device.h)
  if(NOT TORCH_FOUND OR NOT GLOO_INCLUDE)
    message(STATUS "no LibTorch with Gloo's headers: fsdpckpt-rank is not built (libtorch-dev, libgloo-dev)")
    return()
  endif()
  get_filename_component(headers "${TORCH_INSTALL_PREFIX}" REALPATH)
  get_filename_component(library "${TORCH_LIBRARY}" REALPATH)
  string(FIND "${library}" "${headers}/" place)
  if(NOT place EQUAL 0)
    message(FATAL_ERROR "LibTorch's headers are in ${headers}, its library is ${library}: two versions would be mixed. "
                        "Say which one with -DFSDPCKPT_TORCH=<site-packages>/torch, or remove the other.")
  endif()
  message(STATUS "fsdpckpt-rank is built with LibTorch ${Torch_VERSION}: ${library}")

  add_library(fsdpckpt_libtorch INTERFACE)
  target_include_directories(fsdpckpt_libtorch SYSTEM INTERFACE ${TORCH_INCLUDE_DIRS} ${GLOO_INCLUDE})
  target_compile_definitions(fsdpckpt_libtorch INTERFACE USE_C10D_GLOO)
  separate_arguments(flags UNIX_COMMAND "${TORCH_CXX_FLAGS}")
  target_compile_options(fsdpckpt_libtorch INTERFACE ${flags})
  target_link_libraries(fsdpckpt_libtorch INTERFACE ${TORCH_LIBRARIES})
endfunction()

if(NOT FSDPCKPT_RANKS STREQUAL "OFF")
  fsdpckpt_find_libtorch()
endif()
