dlasim_test(csb_test.cpp quick USES dlasim::csb_core)
dlasim_test(field_test.cpp quick USES dlasim::registers)
