dlasim_test(silicon_test.cpp quick USES dlasim::silicon)
