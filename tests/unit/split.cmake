dlasim_test(split_test.cpp quick USES dlasim::lowering)
