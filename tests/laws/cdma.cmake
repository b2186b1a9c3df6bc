dlasim_test(cdma_skip_test.cpp quick USES dlasim::cdma nlohmann_json::nlohmann_json)
