# fsdpckpt_layer(NAME SOURCES ... [USES layer...] [LIBRARIES target...])
#
# One folder of src/ is one layer and one target, fsdpckpt_NAME. A layer sees the headers of the layers it
# USES (and of those they use) and no others: each layer's folder is reached through a link in the build tree, and only
# the links of the used layers are on its include path. A wrong include does not compile.
function(fsdpckpt_layer name)
  cmake_parse_arguments(ARG "" "" "SOURCES;USES;LIBRARIES" ${ARGN})
  set(view ${PROJECT_BINARY_DIR}/layers/${name})
  file(MAKE_DIRECTORY ${view})
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${view}/${name} SYMBOLIC)
  add_library(fsdpckpt_${name} STATIC ${ARG_SOURCES})
  target_include_directories(fsdpckpt_${name} PUBLIC ${view} ${PROJECT_SOURCE_DIR}/include)
  list(TRANSFORM ARG_USES PREPEND fsdpckpt_)
  target_link_libraries(fsdpckpt_${name} PUBLIC ${ARG_USES} ${ARG_LIBRARIES})
  set_property(GLOBAL APPEND PROPERTY FSDPCKPT_LAYERS fsdpckpt_${name})
endfunction()

# fsdpckpt_test(LAYER SOURCES ...): tests/LAYER mirrors src/LAYER; one program a layer.
function(fsdpckpt_test layer)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${layer}_test ${ARG_SOURCES})
  target_include_directories(${layer}_test PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${layer}_test PRIVATE fsdpckpt_${layer} ${ARG_LIBRARIES} GTest::gtest_main GTest::gmock)
  target_compile_definitions(${layer}_test PRIVATE FSDPCKPT_TESTDATA="${PROJECT_SOURCE_DIR}/testdata")
  gtest_discover_tests(${layer}_test PROPERTIES TIMEOUT 120 DISCOVERY_TIMEOUT 60)
endfunction()
