# The CUDA toolkit and NCCL, for the plugins that need them. Sets, for the folders below:
#   STRATO_CUDA  the toolkit is there, and the language CUDA is enabled
#   NCCL_INCLUDE_DIR, NCCL_LIBRARY  not set when NCCL is not there
# Neither is needed for anything else, so what is not found is a line of the status and no error.
option(STRATOSCOPE_CUDA "Build what needs CUDA and NCCL, where they are found" ON)
set(STRATO_CUDA OFF)
if(NOT STRATOSCOPE_CUDA)
  return()
endif()

find_program(STRATO_NVCC nvcc HINTS ENV CUDACXX ENV CUDA_HOME ENV CUDA_PATH PATH_SUFFIXES bin
             PATHS /usr/local/cuda /opt/cuda)
if(STRATO_NVCC)
  if(NOT CMAKE_CUDA_COMPILER)
    set(CMAKE_CUDA_COMPILER ${STRATO_NVCC})
  endif()
  cmake_path(GET STRATO_NVCC PARENT_PATH nvcc_folder)
  cmake_path(GET nvcc_folder PARENT_PATH CUDAToolkit_ROOT)
  find_package(CUDAToolkit QUIET)
endif()
if(NOT STRATO_NVCC OR NOT CUDAToolkit_FOUND)
  message(STATUS "Without the CUDA toolkit: no engine replay-cuda, no transport nccl")
  return()
endif()

if(NOT CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES 75 80 86 89 90)
endif()
set(CMAKE_CUDA_STANDARD 17)
enable_language(CUDA)
set(STRATO_CUDA ON)

find_path(NCCL_INCLUDE_DIR nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS} ENV NCCL_HOME
          PATH_SUFFIXES include)
find_library(NCCL_LIBRARY nccl HINTS ${CUDAToolkit_LIBRARY_DIR} ${CUDAToolkit_LIBRARY_ROOT}
             ENV NCCL_HOME PATH_SUFFIXES lib lib64)
if(NCCL_INCLUDE_DIR AND NCCL_LIBRARY)
  message(STATUS "CUDA ${CUDAToolkit_VERSION}, NCCL: ${NCCL_LIBRARY}")
else()
  message(STATUS "CUDA ${CUDAToolkit_VERSION}, without NCCL: no transport nccl")
endif()

# The object files of a folder's .cu files, under the same warnings as the rest.
function(strato_cuda_library target)
  add_library(${target} STATIC ${ARGN})
  set_target_properties(${target} PROPERTIES UNITY_BUILD OFF
    COMPILE_OPTIONS "-Xcompiler=-Wall,-Wextra,-Werror;-Werror=all-warnings")
  target_include_directories(${target} PUBLIC ${CMAKE_SOURCE_DIR})
endfunction()
