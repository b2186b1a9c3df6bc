dlasim_test(dram_memory_test.cpp golden USES dlasim::memory)
