dlasim_test(memory_store_test.cpp quick USES dlasim::memory_store)
