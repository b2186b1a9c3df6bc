dlasim_test(bdma_test.cpp quick USES dlasim::bdma)
