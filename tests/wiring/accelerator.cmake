if(TARGET dlasim_library)
    dlasim_test(accelerator_test.cpp quick USES dlasim::dlasim)
endif()
if(TARGET dlasim::replay)
    # the library's source itself: it has its own copy of the rooms that the test uses
    dlasim_test(reset_test.cpp quick USES dlasim::platform dlasim::config dlasim::replay)
    target_sources(reset_test PRIVATE ${PROJECT_SOURCE_DIR}/src/library/accelerator.cpp)
endif()
