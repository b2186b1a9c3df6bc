dlasim_test(mcif_skip_test.cpp golden USES dlasim::mcif_core dlasim::memory_store)
