if(TARGET dlasim_library)
    dlasim_test(accelerator_test.cpp quick USES dlasim::dlasim)
endif()
