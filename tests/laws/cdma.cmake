dlasim_test(cdma_leap_test.cpp quick USES dlasim::cdma nlohmann_json::nlohmann_json)
