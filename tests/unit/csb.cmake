dlasim_test(csb_test.cpp quick USES dlasim::csb_core)
