if(TARGET dlasim::platform)
    dlasim_test(rubik_machine_test.cpp quick USES dlasim::platform)
endif()
