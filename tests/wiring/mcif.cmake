dlasim_test(mcif_memory_test.cpp quick USES dlasim::mcif dlasim::memory)
