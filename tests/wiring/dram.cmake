dlasim_test(dram_memory_test.cpp quick USES dlasim::memory)
