dlasim_test(mcif_test.cpp quick USES dlasim::mcif_core dlasim::memory_store)
dlasim_test(traffic_log_test.cpp quick USES dlasim::mcif)
