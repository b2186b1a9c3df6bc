dlasim_test(mac_block_test.cpp quick USES dlasim::numerics)
dlasim_test(tile_block_test.cpp quick USES dlasim::numerics)
dlasim_test(fp16_block_test.cpp quick USES dlasim::numerics)
