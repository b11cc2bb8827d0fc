# Build rules shared by all folders: one folder = one target with declared dependencies.
#
#   strato_library(core/graph DEPENDS core/base PRIVATE_LINK PkgConfig::METIS)
#   strato_plugin(planners/mcts DEPENDS core/search)
#   strato_part(plugins/importers/onnx/read DEPENDS core/graph)
#   strato_test(core/graph DEPENDS core/graph)
#
# Every folder of core becomes a shared library linked with --no-undefined: a dependency that was not
# declared fails at link time, so the include direction is enforced by the linker.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(STRATO_PLUGIN_DIR ${CMAKE_BINARY_DIR}/plugins)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()
# Nobody puts another function in the place of a library's: calls within one library are direct, or inlined.
add_compile_options(-Wall -Wextra -Werror -fno-semantic-interposition)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(-Wno-restrict)  # false alarms on text + std::to_string(...) (GCC 105651)
  # The compiler's garbage collector hardly ever runs: up to a tenth less time, a quarter more memory (at most 1.5 GB a job).
  add_compile_options("SHELL:--param ggc-min-expand=10000" "SHELL:--param ggc-min-heapsize=2000000")
endif()
add_link_options(-Wl,--no-undefined -Wl,--as-needed -Wl,-Bsymbolic-functions)

option(STRATOSCOPE_SANITIZE "Address and undefined-behaviour sanitizers" OFF)
if(STRATOSCOPE_SANITIZE)
  # What is tested, not the tests: those are compiled as without, and the compiler's cache has them.
  # -O1 takes 1.7 times as long as -Og. GCC 12 sees uninitialised variants where the sanitizers have added branches.
  set(options -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer -Og -g1
              -Wno-maybe-uninitialized)
  add_compile_options("$<$<NOT:$<BOOL:$<TARGET_PROPERTY:STRATO_TEST>>>:${options}>")
  add_link_options(-fsanitize=address,undefined)
endif()

# From nothing most of the time goes into reading the same heavy headers (LibTorch, CLI11, protobuf, Qt) for each file.
option(STRATOSCOPE_UNITY "Compile files of one folder together: quicker from nothing; turn off while editing" ON)
set(CMAKE_UNITY_BUILD ${STRATOSCOPE_UNITY})
set(CMAKE_UNITY_BUILD_BATCH_SIZE 24 CACHE STRING "Files compiled together; 0: all of a folder")

# The cache may use what was compiled with precompiled headers: nothing here depends on __TIME__, or on macros that they hide.
find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
endif()

# Headers that nearly every file of a kind reads are read once: a target uses them with
#   target_precompile_headers(TARGET REUSE_FROM strato_headers_KIND)
# Core and tests have none: measured, they gain nothing from them.
function(strato_headers kind)
  cmake_parse_arguments(ARG "" "" "LINK;HEADERS" ${ARGN})
  set(target strato_headers_${kind})
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/headers/${kind}.cpp CONTENT "namespace strato::headers_${kind} {}\n")
  add_library(${target} OBJECT ${CMAKE_BINARY_DIR}/headers/${kind}.cpp)
  set_target_properties(${target} PROPERTIES AUTOMOC OFF)
  target_link_libraries(${target} PRIVATE ${ARG_LINK})
  list(TRANSFORM ARG_HEADERS REPLACE "(.+)" "<\\1>")
  target_precompile_headers(${target} PRIVATE ${ARG_HEADERS})
endfunction()

# Qt does most of what takes time on the screen; -O3 takes twice as long to compile.
# GCC 12 sees uninitialised variants at -O1, too.
function(strato_compile_for_the_screen)
  if(NOT STRATOSCOPE_SANITIZE)
    add_compile_options(-O1 -Wno-maybe-uninitialized)
  endif()
endfunction()

# The executables find resources and samples beside themselves, in the build tree as when installed.
file(CREATE_LINK ${CMAKE_SOURCE_DIR}/resources ${CMAKE_BINARY_DIR}/resources SYMBOLIC)
file(CREATE_LINK ${CMAKE_SOURCE_DIR}/sample_graphs ${CMAKE_BINARY_DIR}/sample_graphs SYMBOLIC)

find_package(PkgConfig REQUIRED)

# core/graph -> strato_core_graph
function(strato_target_name folder result)
  string(REPLACE "/" "_" name ${folder})
  set(${result} strato_${name} PARENT_SCOPE)
endfunction()

function(strato_target_names folders result)
  set(names)
  foreach(folder ${folders})
    strato_target_name(${folder} name)
    list(APPEND names ${name})
  endforeach()
  set(${result} ${names} PARENT_SCOPE)
endfunction()

function(strato_room folder kind)
  cmake_parse_arguments(ARG "" "" "DEPENDS;PUBLIC_LINK;PRIVATE_LINK" ${ARGN})
  strato_target_name(${folder} target)
  strato_target_names("${ARG_DEPENDS}" depends)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${folder}/*.cpp
       ${CMAKE_SOURCE_DIR}/${folder}/*.h)
  add_library(${target} ${kind} ${sources})
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
  target_include_directories(${target} PUBLIC ${CMAKE_SOURCE_DIR})
  target_link_libraries(${target} PUBLIC ${depends} ${ARG_PUBLIC_LINK} PRIVATE ${ARG_PRIVATE_LINK})
endfunction()

function(strato_library folder)
  strato_room(${folder} SHARED ${ARGN})
  if(folder MATCHES "^views/")
    strato_target_name(${folder} target)
    target_precompile_headers(${target} REUSE_FROM strato_headers_qt)
  endif()
endfunction()

# A room of a plugin, or one that plugins of a kind share: a static library, so that a plugin stays one file.
#   strato_part(plugins/importers/onnx/read DEPENDS core/graph/value PRIVATE_LINK protobuf::libprotobuf)
function(strato_part folder)
  strato_room(${folder} STATIC ${ARGN})
endfunction()

# All rooms of a folder under the folder's name, for those who use several:
#   strato_group(core/graph ROOMS value ops)
function(strato_group folder)
  cmake_parse_arguments(ARG "" "" "ROOMS" ${ARGN})
  strato_target_name(${folder} target)
  list(TRANSFORM ARG_ROOMS PREPEND ${folder}/)
  strato_target_names("${ARG_ROOMS}" rooms)
  add_library(${target} INTERFACE)
  target_link_libraries(${target} INTERFACE ${rooms})
endfunction()

# A plugin is <build>/plugins/<kind>/<name>/{plugin.json,plugin.so}; the manifest is in the folder. Folders between kind
# and name (planners/learned/tag) are not seen by those who use it.
function(strato_plugin folder)
  cmake_parse_arguments(ARG "" "" "DEPENDS;PRIVATE_LINK" ${ARGN})
  set(directory plugins/${folder})
  string(REGEX REPLACE "/.*/" "/" place ${folder})
  strato_target_name(${directory} target)
  strato_target_names("${ARG_DEPENDS}" depends)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${directory}/*.cpp
       ${CMAKE_SOURCE_DIR}/${directory}/*.h)
  add_library(${target} MODULE ${sources})
  set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME plugin
    LIBRARY_OUTPUT_DIRECTORY ${STRATO_PLUGIN_DIR}/${place})
  target_include_directories(${target} PUBLIC ${CMAKE_SOURCE_DIR})
  target_link_libraries(${target} PRIVATE ${depends} ${ARG_PRIVATE_LINK})
  configure_file(${CMAKE_SOURCE_DIR}/${directory}/plugin.json
                 ${STRATO_PLUGIN_DIR}/${place}/plugin.json COPYONLY)
  set_property(GLOBAL APPEND PROPERTY STRATO_PLUGINS ${target})
endfunction()

# tests/<folder>/*_test.cpp -> one executable and one ctest entry named after the folder. NEEDS_PLUGINS: all of them; PLUGINS:
# the named ones. ALONE: it expects frames in time, and nothing else is tested meanwhile. PROCESSES: it starts several and expects
# answers within seconds; at most one other test runs beside it on two cores. READER: of what reads files from outside, which CI
# runs under the sanitizers, too, with no more of core than they name. COST: what has more of it starts sooner.
function(strato_test folder)
  cmake_parse_arguments(ARG "NEEDS_PLUGINS;ALONE;PROCESSES;READER" "TIMEOUT;COST" "DEPENDS;PLUGINS;PRIVATE_LINK" ${ARGN})
  string(REPLACE "/" "_" name ${folder})
  set(target test_${name})
  strato_target_names("${ARG_DEPENDS}" depends)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/${folder}/*.cpp
       ${CMAKE_SOURCE_DIR}/tests/${folder}/*.h)
  add_executable(${target} ${sources})
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR})
  # What is tested is optimised; the tests themselves need not be, and compile in half of the time so.
  target_compile_options(${target} PRIVATE -O0)
  set_target_properties(${target} PROPERTIES STRATO_TEST ON)
  target_link_libraries(${target} PRIVATE ${depends} ${ARG_PRIVATE_LINK} strato_test_paths GTest::gtest_main)
  if(NOT ARG_READER)
    target_link_libraries(${target} PRIVATE strato_core)
  endif()
  if(ARG_NEEDS_PLUGINS)
    get_property(plugins GLOBAL PROPERTY STRATO_PLUGINS)
    add_dependencies(${target} ${plugins})
  endif()
  foreach(plugin ${ARG_PLUGINS})
    strato_target_name(plugins/${plugin} name)
    add_dependencies(${target} ${name})
  endforeach()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 1800)
  endif()
  set(processors 1)
  if(ARG_PROCESSES)
    set(processors 2)
    set(ARG_COST 100)  # first: later there are hardly ever two free at once
  elseif(NOT ARG_COST)
    set(ARG_COST 0)
  endif()
  add_test(NAME ${folder} COMMAND ${target})
  # Parts that are built and run by themselves: tests/run PRESET --part NAME. What starts programs with all plugins is none of core's.
  string(REGEX MATCH "^[a-z_]+" part ${folder})
  if(part STREQUAL "property" OR folder MATCHES "^plugins/importers")
    set(part core)
  elseif(part STREQUAL "core" AND ARG_NEEDS_PLUGINS)
    set(part plugins)
  endif()
  if(ARG_READER)
    list(APPEND part readers)
  endif()
  foreach(name ${part})
    if(NOT TARGET tests_${name})
      add_custom_target(tests_${name})
    endif()
    add_dependencies(tests_${name} ${target})
  endforeach()
  set_tests_properties(${folder} PROPERTIES LABELS "${part}" TIMEOUT ${ARG_TIMEOUT} RUN_SERIAL ${ARG_ALONE} PROCESSORS ${processors} COST ${ARG_COST}
    ENVIRONMENT "QT_QPA_PLATFORM=offscreen;ASAN_OPTIONS=detect_leaks=0")
endfunction()
