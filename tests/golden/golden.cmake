dlasim_test(sums_test.cpp quick USES dlasim::golden)
