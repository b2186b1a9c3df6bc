dlasim_test(dram_module_test.cpp quick USES dlasim::dram_module)
