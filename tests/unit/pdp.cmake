if(TARGET dlasim::pdp)
    dlasim_test(pdp_schedule_test.cpp quick USES dlasim::pdp)
endif()
