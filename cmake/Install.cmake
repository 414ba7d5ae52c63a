# What `cmake --install` puts in place: the program, the library (every layer but those of the command
# line, in one archive), its headers and CMake package, and the man pages.
include(CMakePackageConfigHelpers)

get_property(layers GLOBAL PROPERTY FSDPCKPT_LAYERS)
list(REMOVE_ITEM layers fsdpckpt_cli fsdpckpt_report fsdpckpt_torch)
set(objects)
set(libraries)
foreach(layer IN LISTS layers)
  list(APPEND objects $<TARGET_OBJECTS:${layer}>)
  get_target_property(linked ${layer} INTERFACE_LINK_LIBRARIES)
  if(linked)
    list(APPEND libraries ${linked})
  endif()
endforeach()
list(FILTER libraries EXCLUDE REGEX "^fsdpckpt_")
list(REMOVE_DUPLICATES libraries)

# The program's target has the name, so the library's has another; both are called fsdpckpt where they are used.
add_library(fsdpckpt_library STATIC ${objects})
add_library(fsdpckpt::fsdpckpt ALIAS fsdpckpt_library)
set_target_properties(fsdpckpt_library PROPERTIES OUTPUT_NAME fsdpckpt EXPORT_NAME fsdpckpt LINKER_LANGUAGE CXX)
target_compile_features(fsdpckpt_library INTERFACE cxx_std_20)
target_link_libraries(fsdpckpt_library PRIVATE ${libraries})
target_include_directories(fsdpckpt_library INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

if(TARGET fsdpckpt)
  install(TARGETS fsdpckpt RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(TARGET fsdpckpt-rank)
  install(TARGETS fsdpckpt-rank RUNTIME DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/fsdpckpt)
endif()
install(TARGETS fsdpckpt_library EXPORT fsdpckptTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/fsdpckpt DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/fsdpckpt)
configure_package_config_file(cmake/fsdpckptConfig.cmake.in ${PROJECT_BINARY_DIR}/fsdpckptConfig.cmake
  INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/fsdpckptConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/fsdpckptConfig.cmake ${PROJECT_BINARY_DIR}/fsdpckptConfigVersion.cmake
  DESTINATION ${package_folder})
install(EXPORT fsdpckptTargets NAMESPACE fsdpckpt:: DESTINATION ${package_folder})

install(FILES man/fsdpckpt.1 man/fsdpckpt-consolidate.1 man/fsdpckpt-inspect.1 man/fsdpckpt-verify.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES man/fsdpckpt-formats.7 DESTINATION ${CMAKE_INSTALL_MANDIR}/man7)
install(DIRECTORY man/schema DESTINATION ${CMAKE_INSTALL_DATADIR}/fsdpckpt OPTIONAL)
