dlasim_test(mac_block_test.cpp quick USES dlasim::numerics)
