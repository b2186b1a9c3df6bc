dlasim_test(dram_laws_test.cpp golden USES dlasim::dram)
dlasim_test(dram_fuzz_test.cpp quick USES dlasim::dram)
dlasim_test(dram_long_test.cpp long USES dlasim::dram)
