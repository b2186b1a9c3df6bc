dlasim_test(dram_checker_test.cpp quick USES dlasim::dram)
dlasim_test(dram_config_test.cpp golden USES dlasim::dram)
dlasim_test(dram_datasheet_test.cpp golden USES dlasim::dram)
dlasim_test(dram_controller_test.cpp quick USES dlasim::dram)
