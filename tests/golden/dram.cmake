dlasim_test(dram_golden_test.cpp golden USES dlasim::dram)
