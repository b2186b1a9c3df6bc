dlasim_test(convolution_law_test.cpp quick USES dlasim::csc dlasim::cmac dlasim::cacc dlasim::csb_core nlohmann_json::nlohmann_json)
