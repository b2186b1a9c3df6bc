dlasim_test(mcif_skip_test.cpp quick USES dlasim::mcif_core dlasim::memory_store)
