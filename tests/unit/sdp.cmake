dlasim_test(sdp_case_test.cpp quick USES dlasim::sdp_core dlasim::csb_core nlohmann_json::nlohmann_json)
dlasim_test(sdp_standalone_test.cpp quick USES dlasim::sdp_core dlasim::mcif_core dlasim::memory_store dlasim::csb_core nlohmann_json::nlohmann_json)
dlasim_test(sdp_law_test.cpp quick USES dlasim::sdp_core dlasim::csb_core nlohmann_json::nlohmann_json)
dlasim_test(sdp_lanes_test.cpp quick USES dlasim::sdp_core)
