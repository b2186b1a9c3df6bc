dlasim_test(cdp_test.cpp quick USES dlasim::cdp)
