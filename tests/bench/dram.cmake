dlasim_bench(dram_bench.cpp USES dlasim::dram)
