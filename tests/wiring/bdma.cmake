if(TARGET dlasim::platform)
    dlasim_test(bdma_machine_test.cpp quick USES dlasim::platform)
endif()
