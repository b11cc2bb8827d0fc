# LibTorch, for the plugins that need it: strato_use_torch(target). Its own find_package(Torch) drags in flags
# and libraries that nothing here needs, so headers and libraries are found one by one;
# -DCMAKE_PREFIX_PATH=<libtorch> chooses another one.
include_guard(GLOBAL)
option(STRATOSCOPE_TORCH "Build what needs LibTorch: the compute engine and the planner tag" ON)
if(NOT STRATOSCOPE_TORCH)
  return()
endif()
find_path(TORCH_INCLUDE_DIR ATen/ATen.h)
find_path(TORCH_API_INCLUDE_DIR torch/version.h PATH_SUFFIXES torch/csrc/api/include)
find_library(TORCH_CPU_LIBRARY torch_cpu)
find_library(TORCH_C10_LIBRARY c10)
if(NOT TORCH_INCLUDE_DIR OR NOT TORCH_API_INCLUDE_DIR OR NOT TORCH_CPU_LIBRARY OR NOT TORCH_C10_LIBRARY)
  message(FATAL_ERROR "LibTorch not found: install libtorch-dev (app/setup), or give -DSTRATOSCOPE_TORCH=OFF")
endif()
message(STATUS "LibTorch: ${TORCH_CPU_LIBRARY}")

function(strato_use_torch target)
  target_link_libraries(${target} PRIVATE ${TORCH_CPU_LIBRARY} ${TORCH_C10_LIBRARY})
  target_include_directories(${target} SYSTEM PRIVATE ${TORCH_INCLUDE_DIR} ${TORCH_API_INCLUDE_DIR})
endfunction()
