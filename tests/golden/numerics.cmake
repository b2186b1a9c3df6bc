dlasim_test(numerics_test.cpp golden USES dlasim::numerics nlohmann_json::nlohmann_json)
dlasim_test(cdp_numerics_test.cpp golden USES dlasim::numerics nlohmann_json::nlohmann_json)
