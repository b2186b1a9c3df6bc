dlasim_test(cdma_leap_test.cpp quick USES dlasim::cdma_core nlohmann_json::nlohmann_json)
